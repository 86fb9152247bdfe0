package orders;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Orders and parcels, in one file. */
final class Database {
    private final String url;
    private final Connection holdsItOpen;

    Database(String file) throws SQLException {
        url = "jdbc:h2:" + file + ";DB_CLOSE_ON_EXIT=FALSE";
        holdsItOpen = DriverManager.getConnection(url);
        holdsItOpen.createStatement().execute(
            "create table if not exists orders (id varchar primary key);"
                + "create table if not exists parcels (id identity, order_id varchar);"
                + "create table if not exists handled (order_id varchar primary key)");
    }

    interface Work {
        void does(Connection connection) throws SQLException;
    }

    /** All of it, or nothing. */
    void inOneTransaction(Work work) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            try {
                work.does(connection);
                connection.commit();
            } catch (SQLException problem) {
                connection.rollback();
                throw problem;
            }
        }
    }

    int count(String table, String column, String value) throws SQLException {
        String query = "select count(*) from " + table + " where " + column + " = ?";
        try (Connection connection = DriverManager.getConnection(url);
            PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setString(1, value);
            try (ResultSet found = statement.executeQuery()) {
                found.next();
                return found.getInt(1);
            }
        }
    }

    static void insert(Connection connection, String table, String column, String value) throws SQLException {
        String row = "insert into " + table + " (" + column + ") values (?)";
        try (PreparedStatement statement = connection.prepareStatement(row)) {
            statement.setString(1, value);
            statement.executeUpdate();
        }
    }
}
